"""Statistics of an evaluation: pure functions, arrays in, numbers out.

What it is for: every number with an interval, every comparison and every statement about a threshold is computed
here and nowhere else, so that the command line, the tracking server and the pages cannot disagree.

What it may import: numpy and scipy (and the standard library). Nothing of this project, no input or output, no
global random state: whatever is random takes its seed as an argument.

Modules, in the order they build on each other:
    checks: input validation shared by the others.
    intervals: proportions with Wilson intervals, cluster bootstrap, one-sided exact bounds.
    retrieval: success@k, reciprocal ranks and nDCG from ranks.
    comparison: paired sign tests, per query and per needle, and Holm's correction.
    resolution: what a number of questions could resolve at all, and how many more it would take.
    pairs: the whole win/loss matrix of a sweep, and how often each combination comes out best.
    selective: outcomes at every threshold, risk and coverage, expected cost.
    calibration: choosing a threshold honestly: splits, folds and a certified bound.
"""
