"""The index of a project's documents folder: which files are in it, in what state, and made with what.

`folder` puts files into the folder and takes them out, `scanning` finds what changed by content, `stamps` says what an
index was made with and whether that is still at hand, `standing` how each file stands now, `indexer` brings every file
to *indexed* or *failed*, `watching` does so whenever something changes. States are rows of the store, so that pages
and the terminal read the same.
"""
