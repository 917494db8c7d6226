//! Stored messages, read for requests.
