//! The stretch between the brackets, for any machine.

use super::Open;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Quote,
    Open,
    Close,
}

/// What a byte means outside a string.
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    classes[b'"' as usize] = Class::Quote;
    classes[b'{' as usize] = Class::Open;
    classes[b'[' as usize] = Class::Open;
    classes[b'}' as usize] = Class::Close;
    classes[b']' as usize] = Class::Close;
    classes
};

/// The contract is that of the closure in [`super::Balance::feed_with`].
pub(super) fn close(open: &mut Open, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    if open.escaped && !bytes.is_empty() {
        open.escaped = false;
        at = 1;
    }
    while at < bytes.len() {
        if open.in_string {
            at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
            if bytes[at] == b'"' {
                open.in_string = false;
                at += 1;
            } else {
                at += 2;
                open.escaped = at > bytes.len();
            }
        } else {
            match CLASSES[usize::from(bytes[at])] {
                Class::Plain => {}
                Class::Quote => open.in_string = true,
                Class::Open => open.depth += 1,
                Class::Close => {
                    open.depth -= 1;
                    if open.depth == 0 {
                        return Some(at + 1);
                    }
                }
            }
            at += 1;
        }
    }
    None
}
