// The page: what is selected, and the views that follow it.

import { Page } from "./page.js";
import { Server } from "./source.js";

const page = new Page(new Server());
page.open();
Object.assign(globalThis, { tacit: page });
