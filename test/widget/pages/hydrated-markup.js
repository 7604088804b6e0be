import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { App } from "./hydrated-view.js";

export const markup = () => renderToString(createElement(App));
