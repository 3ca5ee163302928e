/** The languages that code is highlighted in, by every name they go by: in fences, and as endings of file names. It loads nothing. */

const NAMES = {
  bash: 'bash sh shell zsh shellscript console',
  c: 'c h',
  cpp: 'cpp c++ cc cxx hpp hh',
  csharp: 'csharp cs c#',
  css: 'css',
  dart: 'dart',
  diff: 'diff patch',
  docker: 'docker dockerfile',
  elixir: 'elixir ex exs',
  go: 'go golang',
  graphql: 'graphql gql',
  haskell: 'haskell hs',
  html: 'html htm',
  ini: 'ini conf cfg properties env',
  java: 'java',
  javascript: 'javascript js mjs cjs',
  json: 'json jsonl webmanifest',
  jsonc: 'jsonc json5',
  jsx: 'jsx',
  kotlin: 'kotlin kt kts',
  lua: 'lua',
  make: 'make makefile mk',
  markdown: 'markdown md',
  php: 'php',
  powershell: 'powershell ps1 pwsh',
  python: 'python py pyi',
  ruby: 'ruby rb gemfile rakefile',
  rust: 'rust rs',
  scss: 'scss',
  sql: 'sql',
  svelte: 'svelte',
  swift: 'swift',
  terraform: 'terraform tf hcl',
  toml: 'toml',
  tsx: 'tsx',
  typescript: 'typescript ts mts cts',
  vue: 'vue',
  xml: 'xml svg xsd plist',
  yaml: 'yaml yml',
  zig: 'zig',
} as const;

export type Language = keyof typeof NAMES;

const byName = new Map<string, Language>();
for (const [language, names] of Object.entries(NAMES))
  for (const name of names.split(' ')) byName.set(name, language as Language);

/** @param name as after a fence's backticks, a path, or the ending of one. */
export function languageOf(name: string): Language | undefined {
  const last = name.trim().toLowerCase().split(/[\\/]/).at(-1) ?? '';
  return byName.get(last) ?? byName.get(last.split('.').at(-1) ?? '');
}
