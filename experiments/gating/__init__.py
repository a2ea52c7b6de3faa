"""The gate of CI: rules about a sweep, what each comes to, and how that is told to people and to machines."""
