"""Results: verdicts, exports, shared pages."""
