//! `mcp` as people type it.

use clap::Subcommand;
use modes::Mode;

use super::words::{self, Named};

/// What can be done with MCP servers.
#[derive(Debug, Subcommand)]
pub(crate) enum McpAct {
    /// Lists the servers that are configured, how they stand, and what each would start.
    List {
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Lets runs start exactly the server that was shown. It is started once, to see what it offers.
    #[command(after_help = "Example:\n  stance mcp list\n  stance mcp allow notes@1a2b3c4d5e6f")]
    Allow {
        /// NAME@DIGEST as it was shown; a bare NAME shows it.
        #[arg(value_name = "NAME@DIGEST")]
        named: Named,
        /// Starts it as a run in this mode would; in plan it can write nothing of the project.
        #[arg(long, value_name = "MODE", default_value = crate::ask::STARTS_SERVERS, value_parser = words::chosen_mode)]
        mode: Mode,
    },
    /// Lets no run start the server any more.
    Forget {
        /// The server.
        name: String,
    },
    /// Logs in at a server that asks for it, in your browser.
    #[command(
        after_help = "Example:\n  stance mcp login forge\n\nOpen the address it prints. It waits until you \
                            have answered there, and keeps what it is given in STANCE_HOME, for you alone."
    )]
    Login {
        /// NAME of an allowed server, or NAME@DIGEST as it was shown.
        #[arg(value_name = "NAME[@DIGEST]")]
        named: Named,
    },
    /// Forgets the login at a server.
    Logout {
        /// The server.
        name: String,
    },
    /// Shows what an allowed server offers.
    Tools {
        /// The server.
        name: String,
        /// Prints JSON.
        #[arg(long)]
        json: bool,
    },
    /// Believes the server where it says that a tool only reads: such tools exist in Plan too.
    #[command(after_help = "Example:\n  stance mcp trust notes\n  stance mcp trust forge get_issue list_issues")]
    Trust {
        /// The server.
        name: String,
        /// The tools; without any, all of it. A server at a URL is trusted tool by tool.
        tools: Vec<String>,
    },
}
