//! Reading and rewriting Java class files: bytes in, bytes out.
