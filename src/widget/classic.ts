import { Fragment, jsx } from "preact/jsx-runtime";
import { defineChatAgent } from "./define-chat-agent.ts";
import type { PanelPart } from "./panel-part.ts";

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
const scriptUrl = script?.src;
/** By which the page's policy may know the script; an import of the script has it without being told. */
const nonce = script?.nonce;

/** The second file lies beside this script, under a name with its content's hash. */
async function loadPanel(): Promise<PanelPart> {
  const url = new URL(__PANEL_FILE__, scriptUrl ?? location.href).href;
  await preloaded(url);
  const part: PanelPart = await import(url);
  part.shareJsx({ jsx, Fragment });
  return part;
}

/**
 * An import cannot say what it expects; a preload can, and the import takes what the preload has brought. So a page that
 * names the hash of this script has the second file covered by it, too.
 */
function preloaded(url: string): Promise<unknown> {
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.integrity = __PANEL_INTEGRITY__;
  if (nonce !== undefined) link.nonce = nonce;
  link.href = url;
  if (!link.relList.supports("modulepreload")) return Promise.resolve();
  return new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () =>
      reject(new Error(`Cannot load ${url}, or it is not the file that this script was built with`));
    document.head.append(link);
  });
}

defineChatAgent(scriptUrl, loadPanel);
