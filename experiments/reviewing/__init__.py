"""What the dashboard shows of recorded sweeps beyond their numbers: pairs, fates, cuts, flips, trends, bluffs."""
