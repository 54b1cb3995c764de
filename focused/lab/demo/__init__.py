"""Generated webs, to try the crawler without the Internet: the demonstration web, the hard web, the bulk web."""
