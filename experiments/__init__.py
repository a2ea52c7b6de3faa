"""What is done to a corpus and what came out of it.

`documents -> chunks -> index -> rankings -> outcomes -> statistics -> record`: conditions and grids, chunking,
embedding, retrieval, relevance, the gate, outcomes, evaluation, recording, the runner and the command line.
May import `corpus` and `store`; never `webapp`.
"""
