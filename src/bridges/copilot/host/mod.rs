//! The Copilot command line in its headless mode, with our tools, hooks and rules.
