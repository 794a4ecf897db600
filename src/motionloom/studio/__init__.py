"""The studio: a page on 127.0.0.1 where clips are joined, blended and spliced by hand and eye."""
