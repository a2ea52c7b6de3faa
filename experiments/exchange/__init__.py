"""Exchanging sweeps and decisions with the ledger: what is missing there is pushed, what is missing here is pulled."""
