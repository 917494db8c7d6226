//! Images whose data lies in a folder of blobs (contract, section 2).

use std::fs;
use std::path::Path;

/// What stands in place of the data of an image, before 64 hexadecimal digits.
const REFERENCE: &str = "blob:sha256:";

/// A larger file is no image that a provider would take.
const LARGEST: u64 = 64 << 20;

/// Whether the data of an image is a reference, or meant to be one.
pub(super) fn is_reference(data: &str) -> bool {
    data.starts_with("blob:")
}

/// The data that a reference means, in base64; none if it is no proper reference or not there.
pub(super) fn resolve(folder: Option<&Path>, data: &str) -> Option<String> {
    let hash = data.strip_prefix(REFERENCE)?;
    // Only what is sure to be a hash becomes part of a path.
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let path = folder?.join(hash.to_ascii_lowercase());
    let found = fs::metadata(&path).ok()?;
    if !found.is_file() || found.len() == 0 || found.len() > LARGEST {
        return None;
    }
    fs::read(&path).ok().map(|bytes| base64(&bytes))
}

/// Base64 with padding, as providers take it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let value = (bits >> (18 - 6 * digit)) & 63;
            out.push(if digit > group.len() { '=' } else { char::from(DIGITS[value as usize]) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_as_in_its_specification() {
        for (bytes, want) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), want);
        }
    }
}
