"""Statistics: arrays in, numbers out; seeded, pure, and refused in words where a number has no meaning."""
