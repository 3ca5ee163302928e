/**
 * The safe list: which shell commands only read. It allows what it knows, option by option, and takes everything else
 * for a command that can do harm. A judgement of text, not a sandbox: it never widens what a command may reach.
 */
import { readWords, type ShellWord } from './shell-words.ts';

type Operands = readonly ShellWord[];

interface Program {
  /** Every word that begins with `-` must match as a whole. */
  options: RegExp;
  /** What must hold for the other words. */
  operands(operands: Operands): boolean;
}

/** A line of the table: the options as patterns; any operands, unless it says otherwise. */
function allow(
  name: string,
  options: readonly string[],
  operands: Program['operands'] = () => true,
): [string, Program] {
  return [name, { options: new RegExp(`^(?:${['--', ...options].join('|')})$`, 's'), operands }];
}

const isEmpty = (operands: Operands): boolean => operands.length === 0;

const NUMBER = '-\\d+';
const COLOR = '--(?:no-)?colou?r(?:=\\w+)?';

const GREP = [
  '-[abcEFGHhiLlnoPqrsTUvwxyz]*[eABCm]?\\d*',
  '--(?:count|ignore-case|line-number|recursive|word-regexp|line-regexp|fixed-strings|extended-regexp|perl-regexp)',
  '--(?:files-with-matches|files-without-match|only-matching|invert-match|no-messages|no-filename|with-filename)',
  '--(?:include|exclude|exclude-dir|regexp)=.*',
  '--(?:context|after-context|before-context|max-count)=\\d+',
  COLOR,
];

const RIPGREP = [
  '-[FHINPSUcehilnopqsuvwx0]*[ABCmgtTe]?\\d*',
  '-[gtT].+',
  '--(?:count|count-matches|files|files-with-matches|files-without-match|fixed-strings|glob|hidden|heading|ignore-case)',
  '--(?:invert-match|json|line-number|line-regexp|multiline|no-filename|no-heading|no-ignore|no-ignore-vcs|no-messages)',
  '--(?:null|only-matching|pcre2|pretty|quiet|regexp|smart-case|sort|stats|trim|type|type-list|type-not|vimgrep)',
  '--(?:case-sensitive|column|with-filename|word-regexp|max-count|max-depth|context|after-context|before-context)',
  '--(?:glob|iglob|regexp|sort|sortr|type|type-not|max-count|max-depth|context|after-context|before-context)=.*',
  COLOR,
];

const FIND = [
  '-(?:name|iname|path|ipath|wholename|regex|iregex|regextype|lname|type|xtype|size|empty|perm|user|group|links|inum)',
  '-(?:mtime|mmin|atime|amin|ctime|cmin|newer|anewer|cnewer|newermt|daystart|depth|maxdepth|mindepth|xdev|mount)',
  '-(?:not|a|and|o|or|prune|quit|true|false|readable|writable|executable|print|print0|printf|ls)',
  `${NUMBER}[a-zA-Z]?`,
];

/** What log, show and diff share. None of these starts another program, nor writes a file. */
const GIT_HISTORY = [
  NUMBER,
  '-[npsuwbizRMC]|-U\\d+|-[MC]\\d+%?|-n\\d+|-L\\d.*|-[SG].+',
  '--(?:stat|numstat|shortstat|dirstat|summary|name-only|name-status|raw|patch|no-patch|patch-with-stat|check)(?:=[\\w,]+)?',
  '--(?:cached|staged|merge-base|exit-code|quiet|ignore-all-space|ignore-space-change|ignore-blank-lines|minimal)',
  '--(?:oneline|graph|all|branches|tags|remotes|decorate|no-decorate|reverse|merges|no-merges|first-parent|follow)',
  '--(?:abbrev-commit|left-right|cherry-pick|cherry-mark|no-renames|find-renames|full-index|topo-order|date-order)',
  '--(?:decorate|abbrev|date|since|until|after|before|author|committer|grep|max-count|skip|unified|diff-filter)=.*',
  '--(?:word-diff|color-words|ignore-submodules|submodule|diff-algorithm|no-ext-diff|no-textconv|histogram)(?:=[\\w-]+)?',
  // %G would start the program that checks signatures.
  '--pretty|--(?:pretty|format)=(?!.*%G).*',
  COLOR,
];

const GIT = new Map([
  allow('blame', ['-[wMCelsn]+', '-L', '-L\\d.*', '--porcelain', '--date=.*']),
  allow('branch', ['-[arv]+', '--(?:all|remotes|list|show-current|verbose)', COLOR], isEmpty),
  allow('cat-file', ['-[ptse]']),
  allow('describe', ['--(?:tags|always|all|long|exact-match)', '--(?:match|abbrev)=.*']),
  allow('diff', GIT_HISTORY),
  allow('grep', ['-[EFGPIHhinvwclLoqrp]*[eABCm]?\\d*', '--(?:cached|untracked|count)', COLOR]),
  allow('log', GIT_HISTORY),
  allow('ls-files', ['-[ocmdstuzv]+', '--(?:others|cached|modified|deleted|stage|exclude-standard)']),
  allow('ls-tree', ['-[rdtlz]+', '--(?:name-only|name-status|full-name|long)']),
  allow('merge-base', ['--(?:all|is-ancestor|fork-point|octopus)']),
  allow('remote', ['-v', '--verbose'], isEmpty),
  allow('rev-list', [NUMBER, '-n', '--(?:count|all|first-parent|merges|no-merges)', '--max-count=\\d+']),
  allow('rev-parse', ['--(?:show-toplevel|show-prefix|abbrev-ref|verify|git-dir|short|is-[a-z-]+)', '--short=\\d+']),
  allow('shortlog', ['-[sne]+', '--(?:all|summary|numbered|email)']),
  allow('show', GIT_HISTORY),
  allow('status', ['-[sbvz]+', '-u(?:no|normal|all)?', '--(?:short|branch|long|ignored)', '--porcelain(?:=v\\d)?']),
]);

const PROGRAMS = new Map([
  allow('basename', ['-[asz]+', '--suffix=.*']),
  allow('cat', ['-[AbeEnstTuv]+', '--(?:number|number-nonblank|show-all|squeeze-blank)']),
  // Any other operand would set the clock.
  allow('date', ['-[uR]', '-I\\w*', '--(?:utc|iso-8601|rfc-3339)(?:=\\w+)?'], (operands) =>
    operands.every(({ text }) => text.startsWith('+')),
  ),
  allow('diff', ['-[abBciEqrsuwyN]+', '-[UC]\\d+', '--(?:brief|recursive|unified|side-by-side|new-file)', COLOR]),
  allow('dirname', ['-z']),
  allow('echo', ['-.*']),
  allow('file', ['-[bikN]+', '--(?:brief|mime|mime-type|mime-encoding)']),
  allow('find', FIND),
  allow('grep', GREP),
  allow('head', ['-[qvz]*[nc]?\\d*[kKMG]?', NUMBER, '--(?:lines|bytes)=-?\\d+[kKMG]?', '--quiet']),
  allow('ls', ['-[A-Za-z1]+', '--[a-z-]+(?:=[\\w+%-]+)?']),
  allow('pwd', ['-[LP]'], isEmpty),
  allow('realpath', ['-[emsqzLP]+']),
  allow('rg', RIPGREP),
  allow('ripgrep', RIPGREP),
  allow('sort', ['-[bcCdfghiMnrRsuVz]+', '-[kt]', '-k[\\d.,bdfghinMrRV]+', '-t[^/]', '--(?:reverse|unique)']),
  allow('stat', ['-[cftL]', '--(?:format|printf)=.*', '--terse']),
  allow('tail', ['-[qvz]*[nc]?\\d*[kKMG]?', NUMBER, '--(?:lines|bytes)=[-+]?\\d+[kKMG]?', '--quiet']),
  allow('tree', ['-[adDfFgGhinpsStuvxC]+', '-[LPI]', '-L\\d+', '--(?:dirsfirst|gitignore|noreport|prune)']),
  allow('true', ['-.*']),
  // A second file would be written, and a pattern can stand for two.
  allow('uniq', ['-[cdDiuz]+', '-[fsw]\\d+'], (operands) => operands.length <= 1 && !operands[0]?.glob),
  allow('wc', ['-[clmwL]+', '--(?:bytes|chars|lines|words|max-line-length)']),
  allow('which', ['-a']),
  allow('whoami', [], isEmpty),
]);

/** Variables that change how text looks, and single letters, which nothing reads. Not PATH, not LD_PRELOAD. */
const HARMLESS_ASSIGNMENT = /^(?:[A-Z]|LANG|LC_[A-Z]+|TZ|NO_COLOR|COLUMNS)=[\w.,:+@-]*$/;
const PARENT_SEGMENT = /(?:^|[/=:])\.\.(?:\/|$)/;
/** `/x`, `~x` and `--option=/x`: outside the workspace, or not surely inside. */
const ROOTED = /^(?:-[^=]*=)?[/~]/;

/** True only when running the command in the workspace changes nothing and names nothing outside it. */
export function isSafeCommand(command: string): boolean {
  const words = readWords(command);
  if (!words || words.some(({ text }) => PARENT_SEGMENT.test(text) || ROOTED.test(text))) return false;
  return isSafeCall(words);
}

function isSafeCall([program, ...rest]: readonly ShellWord[]): boolean {
  if (!program || program.glob) return false;
  switch (program.text) {
    case 'env': {
      const wrapped = rest.findIndex(({ text }) => !HARMLESS_ASSIGNMENT.test(text));
      return wrapped === -1 || isSafeCall(rest.slice(wrapped));
    }
    case 'git': {
      const [subcommand, ...args] = rest[0]?.text === '--no-pager' ? rest.slice(1) : rest;
      return fits(GIT.get(subcommand?.text ?? ''), args);
    }
    default:
      return fits(PROGRAMS.get(program.text), rest);
  }
}

function fits(program: Program | undefined, words: readonly ShellWord[]): boolean {
  if (!program) return false;
  // Words after `--` are judged as options, too: that only makes the judgement stricter.
  const [given, operands] = [words.filter(isOption), words.filter((word) => !isOption(word))];
  return given.every(({ text }) => program.options.test(text)) && program.operands(operands);
}

function isOption({ text }: ShellWord): boolean {
  return text.startsWith('-') && text !== '-';
}
