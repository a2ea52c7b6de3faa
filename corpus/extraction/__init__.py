"""From a file to one canonical text: one module a format, and what is common to them.

``reading.extract`` reads one file where it is called, ``guarded.extract_many`` many in processes under limits,
``cache.ExtractionCache`` keeps what was extracted. Every format becomes a text in the form of Markdown (``# `` title,
``## `` sections), with locators that lead back to a page, a time or a cell, and facts of what extraction did. A file
gives the right text or an ``ExtractionError`` with its reason.

It may import ``corpus.canonical``, ``corpus.headings`` and ``corpus.locators``, and nothing else of this project.
"""
