"""Choosing a threshold as a product decision: costs, bounds, honest reporting, the record, and if it still holds."""
