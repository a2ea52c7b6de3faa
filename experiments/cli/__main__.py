"""`python -m experiments.cli`, for processes that must not depend on a script being on the path."""

from experiments.cli import main

main()
