//! Hashes.

use serde_json::json;
use sha2::digest::Digest;
use sha2::digest::block_buffer::generic_array::typenum::Unsigned;
use sha2::digest::core_api::BlockSizeUser;
use sha2::{Sha224, Sha256, Sha384, Sha512};

use super::{Answer, Args, Call, Op};

pub(super) const OPS: &[(&str, Op)] = &[("hash", Op::Quick(hash))];

/// The hash of bytes; with a key the one that only those can make who have it (HMAC).
fn hash(call: &Call, args: &Args) -> Answer {
    let name = args.text(0)?;
    let bytes = call.parcel(args.at(1))?;
    let key = Some(args.at(2)).filter(|key| !key.is_null()).map(|key| call.parcel(key)).transpose()?;
    let key = key.as_deref();
    let made = match name.to_ascii_lowercase().replace('-', "").as_str() {
        "sha224" => of::<Sha224>(&bytes, key),
        "sha256" => of::<Sha256>(&bytes, key),
        "sha384" => of::<Sha384>(&bytes, key),
        "sha512" => of::<Sha512>(&bytes, key),
        _ => {
            return Err(format!("the hash {name} is not there; there are sha224, sha256, sha384 and sha512"));
        }
    };
    Ok(json!(call.put(made)?).to_string())
}

fn of<D: Digest + BlockSizeUser>(bytes: &[u8], key: Option<&[u8]>) -> Vec<u8> {
    let Some(key) = key else { return D::digest(bytes).to_vec() };
    let size = D::BlockSize::to_usize();
    let mut block = if key.len() > size { D::digest(key).to_vec() } else { key.to_vec() };
    block.resize(size, 0);
    let padded = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<u8>>();
    let inner = D::new().chain_update(padded(0x36)).chain_update(bytes).finalize();
    D::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::hex;

    #[test]
    fn hashes_are_those_of_the_standards() {
        let abc = of::<Sha256>(b"abc", None);
        assert!(hex(&abc).starts_with("ba7816bf8f01cfea414140de5dae2223b00361a396177a9c"));
        // RFC 4231, cases 2 and 6.
        let made = of::<Sha256>(b"what do ya want for nothing?", Some(b"Jefe"));
        assert_eq!(hex(&made), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
        let text = b"Test Using Larger Than Block-Size Key - Hash Key First";
        let made = of::<Sha256>(text, Some(&[0xaa; 131]));
        assert_eq!(hex(&made), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    }
}
