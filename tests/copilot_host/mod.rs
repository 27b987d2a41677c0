//! `copilot host`: the protocol on a command line that does as it is told, right or wrong, and the whole loop on the real one, with a
//! model of our own on loopback.

mod house;
mod model;
mod protocol;
mod real;
