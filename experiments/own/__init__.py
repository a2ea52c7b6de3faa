"""A team's own retriever: what it is, how it is asked, and where what it returns stands in the documents."""
