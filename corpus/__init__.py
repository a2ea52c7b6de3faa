"""What is true before any experiment: documents, canonical text, questions and their needles, fingerprints.

The package reads a folder of Markdown or text files and a questions file, and says everything that is wrong with
them at once. The bundled corpus lies under ``corpus/data``.

It may import the standard library and third-party packages, and nothing of this project.
"""
