//! Making the listener of the proxy in the empty network of this process, and handing it out. Done
//! first of all: nothing inside may ever hold it.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, RawFd};

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::proxy::PORT;

/// Sends a fresh listener through the descriptor that was passed for it.
pub(super) fn hand_out(descriptor: RawFd) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("the proxy's listener: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).map_err(failed)?;
    let listeners = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&listeners)) {
        return Err("the proxy's listener cannot be handed out".into());
    }
    let way = passed(descriptor);
    sendmsg(way, &[IoSlice::new(b"l")], &mut control, SendFlags::NOSIGNAL).map_err(|error| failed(error.into()))?;
    Ok(())
}

#[allow(unsafe_code, reason = "a descriptor passed by number has no safe owner")]
fn passed(descriptor: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the number is what we passed ourselves, nothing of this program owns it, and it stays
    // open until every descriptor above 2 is closed, which is after this borrow.
    unsafe { BorrowedFd::borrow_raw(descriptor) }
}
