//! The agents that are measured, as data: where each comes from, how it is pointed at a model of ours, and
//! how it reads a file. Each runs in its read-only or plan mode. Knows no figures.

use serde_json::json;

use super::answer::Answer;

/// One call of a tool; `FILE` in its arguments stands for the file to read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) tool: &'static str,
    arguments: &'static str,
}

impl Call {
    pub(super) fn answer(&self, file: &str) -> Answer {
        let arguments = self.arguments.replace("FILE", file);
        Answer::Call {
            name: self.tool.to_owned(),
            arguments: serde_json::from_str(&arguments).unwrap_or_else(|_| json!({})),
        }
    }
}

/// One agent.
pub(super) struct Peer {
    pub(super) name: &'static str,
    /// The package of the npm registry and its version; none for our own binary.
    pub(super) package: Option<(&'static str, &'static str)>,
    /// The program, in its package's `node_modules/.bin`.
    pub(super) program: &'static str,
    /// Its arguments before the prompt. `{URL}` stands for the model's address.
    pub(super) arguments: &'static [&'static str],
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// Arguments of a run that tells it the model, before all others; none where a file does.
    pub(super) prepares: &'static [&'static str],
    /// Files in its home folder, with their text.
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) reads: &'static [Call],
    pub(super) ends: Option<Call>,
}

/// Where a home folder's settings name the model, the key and what is to be quiet.
pub(super) const PEERS: &[Peer] = &[
    Peer {
        name: "stance",
        package: None,
        program: "stance",
        arguments: &[
            "run",
            "--mode",
            "plan",
            "--provider",
            "anthropic",
            "--base-url",
            "{URL}",
            "--model",
            "claude-sonnet-4-5",
        ],
        variables: &[("ANTHROPIC_API_KEY", "fake-key")],
        prepares: &[],
        files: &[],
        reads: &[Call {
            tool: "read_file",
            arguments: r#"{"path": "FILE"}"#,
        }],
        ends: Some(Call {
            tool: "plan_mode_respond",
            arguments: r#"{"response": "Hello.", "no_plan_needed": true}"#,
        }),
    },
    Peer {
        name: "codex",
        package: Some(("@openai/codex", "0.171.0")),
        program: "codex",
        arguments: &["exec", "--sandbox", "read-only", "--skip-git-repo-check"],
        variables: &[("MOCK_KEY", "fake-key")],
        prepares: &[],
        files: &[(
            ".codex/config.toml",
            "model = \"mock\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n\
             [model_providers.mock]\nname = \"mock\"\nbase_url = \"{URL}/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n",
        )],
        reads: &[
            Call {
                tool: "exec_command",
                arguments: r#"{"cmd": "cat FILE"}"#,
            },
            Call {
                tool: "shell_command",
                arguments: r#"{"command": "cat FILE"}"#,
            },
            Call {
                tool: "shell",
                arguments: r#"{"command": ["cat", "FILE"]}"#,
            },
        ],
        ends: None,
    },
    Peer {
        name: "claude",
        package: Some(("@anthropic-ai/claude-code", "2.1.332")),
        program: "claude",
        arguments: &["--permission-mode", "plan", "--model", "claude-sonnet-4-5", "-p"],
        variables: &[
            ("ANTHROPIC_BASE_URL", "{URL}"),
            ("ANTHROPIC_API_KEY", "fake-key"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ],
        prepares: &[],
        files: &[],
        reads: &[Call {
            tool: "Read",
            arguments: r#"{"file_path": "FILE"}"#,
        }],
        ends: None,
    },
    Peer {
        name: "opencode",
        package: Some(("opencode-ai", "1.18.33")),
        program: "opencode",
        arguments: &["run", "--agent", "plan", "--model", "mock/mock"],
        variables: &[("OPENCODE_DISABLE_AUTOUPDATE", "1")],
        prepares: &[],
        files: &[(
            ".config/opencode/opencode.json",
            r#"{"autoupdate": false, "share": "disabled", "provider": {"mock": {"npm": "@ai-sdk/openai-compatible",
               "name": "mock", "options": {"baseURL": "{URL}/v1", "apiKey": "fake-key"}, "models": {"mock": {"name": "mock"}}}}}"#,
        )],
        reads: &[Call {
            tool: "read",
            arguments: r#"{"filePath": "FILE"}"#,
        }],
        ends: None,
    },
    Peer {
        name: "gemini",
        package: Some(("@google/gemini-cli", "0.61.0")),
        program: "gemini",
        arguments: &["--approval-mode", "plan", "--model", "gemini-2.5-pro", "--prompt"],
        variables: &[
            ("GOOGLE_GEMINI_BASE_URL", "{URL}"),
            ("GEMINI_API_KEY", "fake-key"),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
        prepares: &[],
        files: &[(
            ".gemini/settings.json",
            r#"{"general": {"disableAutoUpdate": true}, "privacy": {"usageStatisticsEnabled": false},
                "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
                "experimental": {"plan": true}}"#,
        )],
        reads: &[Call {
            tool: "read_file",
            arguments: r#"{"file_path": "FILE"}"#,
        }],
        ends: None,
    },
    Peer {
        name: "pi",
        package: Some(("@mariozechner/pi-coding-agent", "0.73.1")),
        program: "pi",
        arguments: &["--provider", "mock", "--model", "mock", "--tools", "read", "-p"],
        variables: &[("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")],
        prepares: &[],
        files: &[(
            ".pi/agent/models.json",
            r#"{"providers": {"mock": {"baseUrl": "{URL}/v1", "api": "openai-completions", "apiKey": "fake-key",
                "models": [{"id": "mock", "name": "mock", "reasoning": false, "input": ["text"],
                            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                            "contextWindow": 200000, "maxTokens": 8000}]}}}"#,
        )],
        reads: &[Call {
            tool: "read",
            arguments: r#"{"path": "FILE"}"#,
        }],
        ends: None,
    },
    Peer {
        name: "cline",
        package: Some(("cline", "3.0.65")),
        program: "cline",
        arguments: &["--provider", "openai", "--plan"],
        variables: &[("CLINE_TELEMETRY_DISABLED", "1")],
        prepares: &[
            "auth",
            "--provider",
            "openai",
            "--apikey",
            "fake-key",
            "--modelid",
            "mock",
            "--baseurl",
            "{URL}/v1",
        ],
        files: &[],
        reads: &[Call {
            tool: "read_files",
            arguments: r#"{"files": [{"path": "FILE"}]}"#,
        }],
        ends: None,
    },
];
