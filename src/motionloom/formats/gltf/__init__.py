"""glTF 2.0 and GLB: read, written, with their skins."""
