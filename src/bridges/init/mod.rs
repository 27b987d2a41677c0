//! The configuration of hosts that start us.
