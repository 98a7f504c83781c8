// Starts `tdsl lsp` for .fab files and says what to do when it is not there. Everything else is in the server.
const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

async function start() {
  const [command, ...args] = vscode.workspace.getConfiguration("fab").get("command");
  const run = { command, args, transport: TransportKind.stdio };
  const starting = new LanguageClient("fab", "fab", run, { documentSelector: [{ language: "fab" }] });
  client = starting;
  try {
    await starting.start();
  } catch (error) {
    if (client === starting) client = undefined;
    vscode.window.showErrorMessage(
      `fab: \`${[command, ...args].join(" ")}\` did not start (${error.message ?? error}). ` +
        "Install tdsl with its extra `lsp`, or name the program in the setting fab.command.",
    );
  }
}

async function stop() {
  const stopping = client;
  client = undefined;
  if (stopping) await stopping.stop();
}

async function restart() {
  try {
    await stop();
  } catch {
    // A server that died cannot be stopped; a new one is started all the same.
  }
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("fab.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("fab.command") && restart()),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  if (vscode.workspace.isTrusted) await start();
}

module.exports = { activate, deactivate: stop };
