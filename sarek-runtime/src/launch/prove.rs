//! What the host proves of a launch before it: preconditions, and checks that cannot fail.
