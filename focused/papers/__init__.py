"""The critics and prioritizers of papers and classics, and what teaches them."""
