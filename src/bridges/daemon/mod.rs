//! One runtime per workspace and environment, shared through a socket.
