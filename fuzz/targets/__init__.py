"""What is fuzzed, a module each: ``seeds()`` gives inputs to begin with, ``check(data)`` what must hold of any."""
