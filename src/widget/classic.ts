import { Component } from "preact";
import { Fragment, jsx } from "preact/jsx-runtime";
import { defineChatAgent } from "./define-chat-agent.ts";
import type { PanelPart } from "./panel-part.ts";

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript : null;
const scriptUrl = script?.src;
/** A page's security policy may allow the script by it; the script's imports inherit it. */
const nonce = script?.nonce;

let tries = 0;

/** The second file is beside this script; its name contains the hash of its content. */
async function loadPanel(): Promise<PanelPart> {
  tries += 1;
  // A browser remembers by its address that a module did not load.
  const file = `${__PANEL_FILE__}#${tries}`;
  const base = scriptUrl ?? location.href;
  await preloaded(file, __PANEL_INTEGRITY__, base);
  const part: PanelPart = await import(new URL(file, base).href);
  part.shareScript({ jsx, Fragment, Component, preloaded });
  return part;
}

/**
 * An import cannot name an integrity; a preload can, and the import then uses the preloaded file. So a page that checks
 * the integrity of this script covers the other files too.
 */
function preloaded(file: string, integrity: string, base: string): Promise<unknown> {
  const url = new URL(file, base).href;
  const link = document.createElement("link");
  link.rel = "modulepreload";
  link.integrity = integrity;
  if (nonce !== undefined) link.nonce = nonce;
  link.href = url;
  if (!link.relList.supports("modulepreload")) return Promise.resolve();
  return new Promise((resolve, reject) => {
    link.onload = resolve;
    link.onerror = () => reject(new Error(`Cannot load ${url}, or it is of another version`));
    document.head.append(link);
  });
}

defineChatAgent(scriptUrl, loadPanel);
