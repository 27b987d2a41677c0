//! `copilot host`: the protocol on a scripted command line, right or wrong, and the whole loop on
//! the real one with a loopback stand-in model.

mod house;
mod model;
mod protocol;
mod real;
