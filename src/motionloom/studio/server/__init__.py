"""The server: page, socket, uploads, and who may use them."""
