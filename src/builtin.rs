//! The built-in backends, registered at the first use of the registry.
