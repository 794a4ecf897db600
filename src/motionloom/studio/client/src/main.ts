// The entry: the page is drawn before the rest of its code is loaded.

import "./style.css";
import "./tabs/blend.css";
import "./tabs/splice.css";
import "./tabs/table.css";
import "./tabs/transition.css";
import { painted } from "./painted";
import { setTheme } from "./theme";

setTheme("auto"); // the system's theme, until the stored one is loaded
void painted()
  .then(() => import("./app"))
  .catch(() => document.querySelector("#studio h1")!.append(" could not be loaded. Is the studio still running?"));
