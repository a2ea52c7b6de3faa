"""A live question: answered or refused by the gate, citations attached by the server, a written answer checked."""
