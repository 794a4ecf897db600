// node validate_gltf.js FOLDER_OF_VALIDATOR FILE...: one line of JSON per file, the issues found.
const fs = require("fs");
const validator = require(process.argv[2]);

(async () => {
  for (const file of process.argv.slice(3)) {
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)));
    console.log(JSON.stringify(report.issues));
  }
})();
