"""A baseline file whose numbers nobody can read."""

from pathlib import Path

import pytest

from experiments.reviewing.baselines import BaselineError, read_baseline


def test_a_number_of_thousands_of_digits_is_no_baseline(tmp_path: Path) -> None:
    file = tmp_path / "baseline.json"
    file.write_text("9" * 5000)
    with pytest.raises(BaselineError, match="baseline"):
        read_baseline(file)
