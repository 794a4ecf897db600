"""What a clip is: skeleton, motion, contacts, and the plain operations on them."""
