//! Walking a parsed line: lists, pipelines and compounds, down to simple commands. Knows in which folder each may run, and no program.

use brush_parser::ast::{
    AndOr, AndOrList, AssignmentValue, BinaryPredicate, Command, CommandPrefixOrSuffixItem, CompoundCommand,
    CompoundList, CompoundListItem, ExtendedTestExpr, ForClauseCommand, IfClauseCommand, Pipeline,
    ProcessSubstitutionKind, SeparatorOperator, SimpleCommand, UnaryPredicate, Word,
};

use super::bounds::openings;
use super::found::{Finding, Here, Kind, Meets};
use super::word::{Text, options};
use crate::effect::EffectSet;

/// How deep lines may stand within lines, and commands within commands.
const DEEPEST: usize = 24;

/// A stack of this size holds the deepest line there can be.
const STACK: usize = 16 * 1024 * 1024;

/// With less room than this, and this much more for each thing a line opens, a stack of its own is taken.
const ROOM: usize = 512 * 1024;
const ROOM_FOR_EACH: usize = 32 * 1024;

/// The folders after a command: when it went well, and when not.
pub(super) struct Then {
    pub(super) well: Here,
    pub(super) ill: Here,
}

impl Then {
    pub(super) fn stays(here: &Here) -> Then {
        Then {
            well: here.clone(),
            ill: here.clone(),
        }
    }
}

impl Finding<'_> {
    /// Reads a line, or one within a line, in a shell that leaves its folder to nobody.
    pub(super) fn line(&mut self, line: &str, here: &Here) {
        if self.depth >= DEEPEST {
            return self.opaque("it nests too deeply");
        }
        let openings = match openings(line) {
            Ok(openings) => openings,
            Err(why) => return self.opaque(why),
        };
        self.depth += 1;
        stacker::maybe_grow(ROOM + openings * ROOM_FOR_EACH, STACK, || self.parsed(line, here));
        self.depth -= 1;
    }

    /// Reads a command that another one starts.
    pub(super) fn starts_within(&mut self, words: &[Text], here: &Here) {
        if self.depth >= DEEPEST {
            return self.opaque("it nests too deeply");
        }
        self.depth += 1;
        self.invoke(words, here);
        self.depth -= 1;
    }

    fn parsed(&mut self, line: &str, here: &Here) {
        let parser = options();
        let parse = || {
            let tokens = brush_parser::uncached_tokenize_str(line, &parser.tokenizer_options()).ok()?;
            brush_parser::parse_tokens(&tokens, &parser).ok()
        };
        // The grammar's reader panics at the end of some texts that are no lines.
        let program = std::panic::catch_unwind(parse).ok().flatten();
        let Some(program) = program else {
            return self.opaque("it is not a line that can be read");
        };
        program
            .complete_commands
            .iter()
            .fold(here.clone(), |here, list| self.list(list, &here));
    }

    pub(super) fn list(&mut self, CompoundList(items): &CompoundList, here: &Here) -> Here {
        let mut now = here.clone();
        for CompoundListItem(list, separator) in items {
            let after = self.and_or(list, &now);
            match separator {
                SeparatorOperator::Sequence => now = after,
                SeparatorOperator::Async => {}
            }
        }
        now
    }

    fn and_or(&mut self, list: &AndOrList, here: &Here) -> Here {
        let Then { mut well, mut ill } = self.pipeline(&list.first, here);
        for next in &list.additional {
            match next {
                AndOr::And(pipeline) => {
                    let then = self.pipeline(pipeline, &well);
                    well = then.well;
                    ill = ill.or(&then.ill);
                }
                AndOr::Or(pipeline) => {
                    let then = self.pipeline(pipeline, &ill);
                    well = well.or(&then.well);
                    ill = then.ill;
                }
            }
        }
        well.or(&ill)
    }

    fn pipeline(&mut self, pipeline: &Pipeline, here: &Here) -> Then {
        if let [only] = pipeline.seq.as_slice() {
            let then = self.command(only, here);
            if pipeline.bang {
                return Then {
                    well: then.ill,
                    ill: then.well,
                };
            }
            return then;
        }
        // The grammar lets nothing follow `!` and `time`, and bash does not.
        if pipeline.seq.is_empty() {
            self.opaque("it is not a line that can be read");
        }
        for command in &pipeline.seq {
            self.command(command, here);
        }
        Then::stays(here)
    }

    fn command(&mut self, command: &Command, here: &Here) -> Then {
        match command {
            Command::Simple(simple) => {
                let found = self.reading.commands.len();
                let then = self.simple(simple, here);
                self.written_since(found);
                then
            }
            Command::Compound(compound, redirects) => {
                let found = self.reading.commands.len();
                let after = self.compound(compound, here);
                self.redirects(redirects.as_ref(), here);
                self.written_since(found);
                Then {
                    well: after.clone(),
                    ill: after,
                }
            }
            Command::Function(function) => {
                self.opaque("it defines a function: a name may mean another thing then");
                self.redirects(function.body.1.as_ref(), here);
                self.compound(&function.body.0, &Here(None));
                Then::stays(here)
            }
            Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref(), here);
                self.test(&test.expr, here);
                Then::stays(here)
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand, here: &Here) -> Here {
        match compound {
            CompoundCommand::Arithmetic(_) => {
                self.opaque("arithmetic evaluates what names hold");
                here.clone()
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.opaque("arithmetic evaluates what names hold");
                self.again(here, |finding, here| finding.list(&clause.body.list, here))
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list, here),
            CompoundCommand::Subshell(subshell) => {
                self.list(&subshell.list, here);
                here.clone()
            }
            CompoundCommand::ForClause(clause) => self.for_each(clause, here),
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value, here);
                clause.cases.iter().fold(here.clone(), |after, case| {
                    for pattern in &case.patterns {
                        self.word(pattern, here);
                    }
                    // A branch may fall through to the next.
                    let branch = case.cmd.as_ref().map(|list| self.list(list, &after));
                    branch.map_or(after.clone(), |branch| after.or(&branch))
                })
            }
            CompoundCommand::IfClause(clause) => self.if_clause(clause, here),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.again(here, |finding, here| {
                    let after = finding.list(&clause.0, here);
                    finding.list(&clause.1.list, &after).or(&after)
                })
            }
            CompoundCommand::Coprocess(coprocess) => {
                self.opaque("a coprocess runs beside the line");
                self.command(&coprocess.body, here);
                here.clone()
            }
        }
    }

    /// Something that may be done any number of times: where it moves, nobody knows where it is.
    fn again(&mut self, here: &Here, mut once: impl FnMut(&mut Self, &Here) -> Here) -> Here {
        if once(self, here) == *here {
            return here.clone();
        }
        once(self, &Here(None));
        Here(None)
    }

    fn for_each(&mut self, clause: &ForClauseCommand, here: &Here) -> Here {
        self.sets(&clause.variable_name);
        for value in clause.values.iter().flatten() {
            self.word(value, here);
        }
        self.again(here, |finding, here| finding.list(&clause.body.list, here))
    }

    fn if_clause(&mut self, clause: &IfClauseCommand, here: &Here) -> Here {
        let mut asked = self.list(&clause.condition, here);
        let mut after = self.list(&clause.then, &asked);
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                asked = self.list(condition, &asked);
            }
            after = after.or(&self.list(&other.body, &asked));
        }
        after.or(&asked)
    }

    fn test(&mut self, test: &ExtendedTestExpr, here: &Here) {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left, here);
                self.test(right, here);
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner, here),
            ExtendedTestExpr::UnaryTest(predicate, word) => {
                if matches!(
                    predicate,
                    UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef
                ) {
                    self.opaque("a test evaluates the name it is given");
                }
                self.word(word, here);
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                let sides = [self.word(left, here), self.word(right, here)];
                match predicate {
                    BinaryPredicate::ArithmeticEqualTo
                    | BinaryPredicate::ArithmeticNotEqualTo
                    | BinaryPredicate::ArithmeticLessThan
                    | BinaryPredicate::ArithmeticLessThanOrEqualTo
                    | BinaryPredicate::ArithmeticGreaterThan
                    | BinaryPredicate::ArithmeticGreaterThanOrEqualTo => {
                        if !sides.iter().all(is_number) {
                            self.opaque("a comparison of numbers evaluates what it is given");
                        }
                    }
                    // The grammar reads regular expressions otherwise than bash does.
                    BinaryPredicate::StringMatchesRegex | BinaryPredicate::StringContainsSubstring => {
                        self.opaque("a regular expression is matched by the shell");
                    }
                    BinaryPredicate::FilesReferToSameDeviceAndInodeNumbers
                    | BinaryPredicate::LeftFileIsNewerOrExistsWhenRightDoesNot
                    | BinaryPredicate::LeftFileIsOlderOrDoesNotExistWhenRightDoes
                    | BinaryPredicate::StringExactlyMatchesPattern
                    | BinaryPredicate::StringDoesNotExactlyMatchPattern
                    | BinaryPredicate::StringExactlyMatchesString
                    | BinaryPredicate::StringDoesNotExactlyMatchString
                    | BinaryPredicate::LeftSortsBeforeRight
                    | BinaryPredicate::LeftSortsAfterRight => {}
                }
            }
        }
    }

    pub(super) fn word(&mut self, word: &Word, here: &Here) -> Text {
        self.text(&word.value, here)
    }

    fn simple(&mut self, simple: &SimpleCommand, here: &Here) -> Then {
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, here),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => self.assignment(assignment, here),
                CommandPrefixOrSuffixItem::Word(_) | CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                    self.opaque("a word stands where none is expected");
                }
            }
        }
        let Some(name) = &simple.word_or_name else {
            return Then::stays(here);
        };
        let mut words = vec![self.word(name, here)];
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            match item {
                CommandPrefixOrSuffixItem::IoRedirect(redirect) => self.redirect(redirect, here),
                CommandPrefixOrSuffixItem::Word(word) => words.push(self.word(word, here)),
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    if matches!(assignment.value, AssignmentValue::Array(_)) {
                        self.opaque("an array is set by a command");
                    }
                    words.push(self.word(word, here));
                }
                CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                    self.list(&subshell.list, here);
                    words.push(match kind {
                        ProcessSubstitutionKind::Read => Text::known("/dev/fd/63"),
                        ProcessSubstitutionKind::Write => Text::known("/dev/fd/62"),
                    });
                }
            }
        }
        self.invoke(&words, here)
    }

    /// Notes a test or another shell word that only looks.
    pub(super) fn looks(&mut self, words: &[Text], here: &Here) {
        self.found(words, here, Kind::read(Meets::Names));
    }

    /// Notes a program that is understood and no read.
    pub(super) fn starts(&mut self, words: &[Text], here: &Here, effects: EffectSet) {
        let kind = Kind { effects, ..Kind::CODE };
        self.found(words, here, kind);
    }
}

fn is_number(text: &Text) -> bool {
    text.constant()
        .is_some_and(|text| !text.is_empty() && text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()))
}
