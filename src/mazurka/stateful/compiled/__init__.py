"""How compiled searches are made, kept and given memory."""
