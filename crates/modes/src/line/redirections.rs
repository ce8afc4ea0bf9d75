//! Redirections: the files they open, the here-documents they hold, the hosts they reach. Knows no program.

use brush_parser::ast::{IoFileRedirectKind, IoFileRedirectTarget, IoHereDocument, IoRedirect, RedirectList, Word};

use super::found::{Finding, Here, Meets};
use super::word::{Inside, here_document};

impl Finding<'_> {
    pub(super) fn redirects(&mut self, redirects: Option<&RedirectList>, here: &Here) {
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            self.redirect(redirect, here);
        }
    }

    pub(super) fn redirect(&mut self, redirect: &IoRedirect, here: &Here) {
        match redirect {
            IoRedirect::File(_, kind, target) => self.file(kind, target, here),
            IoRedirect::HereDocument(
                _,
                IoHereDocument {
                    requires_expansion,
                    doc,
                    here_end,
                    ..
                },
            ) => {
                let mut inside = Inside::default();
                if *requires_expansion {
                    here_document(&doc.value, &mut inside);
                }
                if here_end.value.contains(['$', '`']) {
                    inside.opaque = Some("a here-document ends in what is expanded elsewhere".to_owned());
                }
                self.within(inside, here);
            }
            IoRedirect::HereString(_, word) => {
                self.word(word, here);
            }
            IoRedirect::OutputAndError(word, _) => self.opens(word, Meets::Writes, here),
        }
    }

    fn file(&mut self, kind: &IoFileRedirectKind, target: &IoFileRedirectTarget, here: &Here) {
        match (kind, target) {
            (IoFileRedirectKind::Read, IoFileRedirectTarget::Filename(word)) => self.opens(word, Meets::Reads, here),
            (_, IoFileRedirectTarget::Filename(word)) => self.opens(word, Meets::Writes, here),
            (_, IoFileRedirectTarget::Fd(_)) => {}
            (_, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                self.list(&subshell.list, here);
            }
            // `>&2` is a descriptor and `>&file` is a file.
            (kind, IoFileRedirectTarget::Duplicate(word)) => {
                let text = self.word(word, here);
                let descriptor = |text: &str| {
                    text == "-"
                        || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty()
                };
                match (text.constant(), kind) {
                    (Some(text), _) if descriptor(text) => {}
                    (Some(_), IoFileRedirectKind::DuplicateOutput) => self.opens(word, Meets::Writes, here),
                    _ => self.opaque("a redirection goes to an unknown place"),
                }
            }
        }
    }

    fn opens(&mut self, word: &Word, meets: Meets, here: &Here) {
        let path = self.word(word, here);
        if path.shape.starts_with("/dev/tcp/") || path.shape.starts_with("/dev/udp/") {
            self.opaque("a redirection opens a connection");
            let host = path.shape.split('/').nth(3).unwrap_or_default();
            return self.host(host);
        }
        self.redirected |= meets == Meets::Writes && self.matters(&path, here);
        self.meets(&path, here, meets);
    }
}
