// The door: the page is seen before all that makes it work is read.

import "./style.css";
import { painted } from "./painted";
import { setTheme } from "./theme";

setTheme("auto"); // what the system likes, until it is known what was chosen
void painted()
  .then(() => import("./app"))
  .catch(() => document.querySelector("#studio h1")!.append(" could not be loaded. Is the studio still running?"));
