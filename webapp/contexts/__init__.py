"""What each page shows, computed: one module and one frozen dataclass per page."""
