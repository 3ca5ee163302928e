/** Finds the colours of code, away from the page: grammars load one by one, and nothing here can stop the page from scrolling. */
import { createCssVariablesTheme, createHighlighterCore, type LanguageInput } from 'shiki/core';
import { createJavaScriptRegexEngine } from 'shiki/engine/javascript';
import type { CodeLine, FromWorker, TokenKind, ToWorker } from './highlight.ts';
import type { Language } from './languages.ts';

const THEME = 'variables';
/** Lines beyond these stay without colours: minified code is not for reading. */
const LONGEST_LINE = 2_000;
/** Long: the first lines in a language are slow, and the line after one that was cut would have the colours of its middle. */
const LINE_MS = 2_000;

const grammars: Record<Language, LanguageInput> = {
  bash: () => import('shiki/langs/bash.mjs'),
  c: () => import('shiki/langs/c.mjs'),
  cpp: () => import('shiki/langs/cpp.mjs'),
  csharp: () => import('shiki/langs/csharp.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  dart: () => import('shiki/langs/dart.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
  elixir: () => import('shiki/langs/elixir.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  graphql: () => import('shiki/langs/graphql.mjs'),
  haskell: () => import('shiki/langs/haskell.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  ini: () => import('shiki/langs/ini.mjs'),
  java: () => import('shiki/langs/java.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  jsonc: () => import('shiki/langs/jsonc.mjs'),
  jsx: () => import('shiki/langs/jsx.mjs'),
  kotlin: () => import('shiki/langs/kotlin.mjs'),
  lua: () => import('shiki/langs/lua.mjs'),
  make: () => import('shiki/langs/make.mjs'),
  markdown: () => import('shiki/langs/markdown.mjs'),
  php: () => import('shiki/langs/php.mjs'),
  powershell: () => import('shiki/langs/powershell.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  ruby: () => import('shiki/langs/ruby.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  scss: () => import('shiki/langs/scss.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  svelte: () => import('shiki/langs/svelte.mjs'),
  swift: () => import('shiki/langs/swift.mjs'),
  terraform: () => import('shiki/langs/terraform.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  typescript: () => import('shiki/langs/typescript.mjs'),
  vue: () => import('shiki/langs/vue.mjs'),
  xml: () => import('shiki/langs/xml.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  zig: () => import('shiki/langs/zig.mjs'),
};

const highlighter = createHighlighterCore({
  themes: [createCssVariablesTheme({ name: THEME, variablePrefix: '--code-' })],
  engine: createJavaScriptRegexEngine({ forgiving: true }),
});

const waiting = new Map<number, Extract<ToWorker, { code: string }>>();
let working = false;

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if ('cancel' in data) waiting.delete(data.cancel);
  else waiting.set(data.id, data);
  if (!working) void work();
});

/** One after the other, with a breath in between to hear what is not wanted any more. */
async function work(): Promise<void> {
  working = true;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve));
    const [id, job] = [...waiting].at(-1) ?? [];
    if (id === undefined || job === undefined) break;
    waiting.delete(id);
    const lines = await colour(job.code, job.language).catch(() => undefined);
    self.postMessage({ id, lines } satisfies FromWorker);
  }
  working = false;
}

async function colour(code: string, language: Language): Promise<CodeLine[]> {
  const { loadLanguage, codeToTokensBase } = await highlighter;
  await loadLanguage(grammars[language]);
  const lines = codeToTokensBase(code, {
    lang: language,
    theme: THEME,
    tokenizeMaxLineLength: LONGEST_LINE,
    tokenizeTimeLimit: LINE_MS,
  });
  return lines.map((line) => line.map(({ content, color }) => ({ text: content, kind: kindOf(color) })));
}

/** The theme's colours are names of variables: what a token is stands in them. */
function kindOf(colour: string | undefined): TokenKind | undefined {
  return /--code-token-([a-z-]+)/.exec(colour ?? '')?.[1] as TokenKind | undefined;
}
