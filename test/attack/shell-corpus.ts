/** Commands that do harm, or could, in every way that has got past somebody's judgement of a command's text. */

const list = (text: string): string[] => text.trim().split(/ ¦ |\n\s*/);

/** Begins like a command of the safe list, and goes on. */
const AFTER = [
  ...list(`
  ; X ¦ ;X ¦ && X ¦ || X ¦ | X ¦ |& X ¦ & X ¦ &X ¦ $(X) ¦ "$(X)" ¦ <(X) ¦ >(X) ¦ $((a[$(X)])) ¦ $[a[$(X)]]
  > pwned ¦ >pwned ¦ >> pwned ¦ >| pwned ¦ 2> pwned ¦ &> pwned ¦ >& pwned ¦ <> pwned ¦ 1>pwned ¦ {fd}>pwned
  <<<$(X) ¦ | sh ¦ | tee pwned ¦ | xargs -I{} sh -c {} ¦ | bash -s ¦  ;; X ¦ '; X; '$(X) ¦ "\${a:-$(X)}" ¦ \${a@P}
`),
  '\nX',
  '\r\nX',
  '\rX',
  '\n\n\tX',
  '\\\n; X',
  '# \nX',
  '`X`',
  '"`X`"',
  '<<EOF\n$(X)\nEOF',
  '<<-E\nX\nE',
  '\u00a0; X',
  '\u2028X',
  '\u0085X',
  '\u000bX',
  '\fX',
  '\u0000X',
  '\u200b;X',
  '\uff1b$(X)',
  ' \\; X;',
].map((rest) => `ls ${rest}`);

/** Options and operands of programs that look harmless. */
const OPTIONS = [
  ...list(`
  rg --pre ./x a ¦ rg --pre=./x a ¦ rg --pr ./x a ¦ rg -z a ¦ rg --search-zip a ¦ rg --hostname-bin=./x a
  rg --hyperlink-format=default --hostname-bin ./x a ¦ rg -f /etc/passwd a ¦ rg --follow a ¦ rg -uuL a
  git -c core.pager=./x log ¦ git -c core.fsmonitor=./x status ¦ git -c alias.x=!./x x ¦ git -p log
  git --exec-path=. status ¦ git --git-dir=evil status ¦ git --work-tree=.. status ¦ git -C evil status
  git --config-env=core.pager=A log ¦ git log --ext-diff ¦ git diff --ext-diff ¦ git show --show-signature
  git log --output=pwned ¦ git diff --output=pwned ¦ git show -o pwned ¦ git diff --no-index a /etc/passwd
  git log --format=%GK ¦ git log --pretty=format:%G? ¦ git grep -O./x a ¦ git grep --open-files-in-pager=./x a
  git branch pwned ¦ git branch -m a b ¦ git branch --edit-description ¦ git tag pwned ¦ git notes add -m x
  git remote set-url origin evil ¦ git submodule foreach ./x ¦ git bisect run ./x ¦ git rebase -x ./x HEAD~1
  git config core.pager ./x ¦ git archive --remote=. --exec=./x HEAD ¦ git ls-remote ext::./x ¦ git fetch ./x
  git clone --upload-pack=./x . y ¦ git difftool -x ./x ¦ git help -w x ¦ git gc ¦ git stash ¦ git clean -fdx
  git reset --hard ¦ git checkout . ¦ git restore . ¦ git rm a ¦ git mv a b ¦ git add . ¦ git commit -am x
  git update-index --assume-unchanged a ¦ git write-tree ¦ git hash-object -w a ¦ git apply a ¦ git am a
  git worktree add x ¦ git init x ¦ git cat-file --filters HEAD:a ¦ git cat-file --textconv HEAD:a ¦ git push
  find . -exec X ; ¦ find . -exec X + ¦ find . -execdir X ; ¦ find . -ok X ; ¦ find . -okdir X ; ¦ find . -delete
  find . -fprint pwned ¦ find . -fprint0 pwned ¦ find . -fprintf pwned x ¦ find . -fls pwned ¦ find -L . -ls
  sort -o pwned a ¦ sort -opwned a ¦ sort --output=pwned a ¦ sort --outp=pwned a ¦ sort --compress-program=./x a
  sort -T .. a ¦ sort -ro pwned a ¦ uniq a pwned ¦ tree -o pwned ¦ tree -L 1 -o pwned ¦ date -s 2020-01-01
  date -f a ¦ date 010100002020 ¦ file -C -m x ¦ file -m x a ¦ file -z a ¦ file -S -z a ¦ diff --to-file=/etc a
  grep -f /etc/passwd a ¦ grep -r --include=* -f a b ¦ tail -f a ¦ tail --follow=name a ¦ wc --files0-from=a
  head -c 1 /dev/sda ¦ cat /proc/self/environ ¦ cat ~/.ssh/id_rsa ¦ cat ../x ¦ ls --time-style=+$(X) ¦ stat -f /
`),
];

/** Programs and builtins that run what they are given. */
const RUNNERS = [
  ...list(`
  X ¦ ./x ¦ /bin/ls ¦ 'l's; X ¦ l""s; X ¦ sh -c X ¦ bash x ¦ dash -c X ¦ busybox sh -c X ¦ . ./x ¦ source x
  eval X ¦ exec X ¦ command X ¦ builtin eval X ¦ command -v X; X ¦ trap X EXIT ¦ coproc X ¦ time X ¦ ! X ¦ { X; }
  (X) ¦ ((a[$(X)])) ¦ [[ -v a[$(X)] ]] ¦ [ -v "a[$(X)]" ] ¦ test -v "a[$(X)]" ¦ let "a[$(X)]=1" ¦ export A=$(X)
  declare -n a=b ¦ typeset -i a="b[$(X)]" ¦ local a ¦ readonly PATH=. ¦ unset PATH ¦ alias ls=X
  function ls { X; }; ls ¦ ls() { X; }; ls ¦ hash -p ./x ls; ls ¦ enable -f ./x.so x ¦ set -x
  shopt -s expand_aliases ¦ printf -v "a[$(X)]" x ¦ read -r a < x ¦ mapfile -C X -c 1 a < x ¦ complete -C X y
  bind -x "a":X ¦ fc -s X ¦ history -w pwned ¦ if X; then ls; fi ¦ for i in 1; do X; done ¦ while X; do ls; done
  case a in a) X;; esac ¦ select a in b; do X; done ¦ env X ¦ env -S "X" ¦ env -S"X" ¦ env --split-string=X
  env -i X ¦ env -u A X ¦ env -C .. ls ¦ env PATH=. ls ¦ env -- X ¦ env A=1 B=2 X ¦ env LD_PRELOAD=./x.so ls
  env GIT_PAGER=./x git log ¦ env GIT_EXTERNAL_DIFF=./x git diff ¦ env BASH_ENV=x ls ¦ A=1 X ¦ PATH=. ls
  IFS=x; lsx-a ¦ LD_PRELOAD=./x.so ls ¦ GIT_DIR=evil git status ¦ PAGER=./x git log ¦ A=$(X) ls ¦ a[$(X)]=1 ls
  xargs X ¦ nohup X ¦ nice X ¦ timeout 1 X ¦ stdbuf -o0 X ¦ setsid X ¦ sudo X ¦ doas X ¦ su -c X ¦ watch X
  parallel X ¦ awk 'BEGIN{system("X")}' ¦ awk '{print > "pwned"}' a ¦ sed 'w pwned' a ¦ sed -n '1e X' a
  sed -i s/a/b/ a ¦ sed 's/a/X/e' a ¦ perl -e 'system X' ¦ python3 -c 'import os' ¦ node -e 0 ¦ ruby -e 0
  php -r 0 ¦ lua x ¦ vim -c :!X ¦ ed a ¦ ex a ¦ less a ¦ more a ¦ man -P X ls ¦ tar --to-command=X -xf a
  tar -cf a --checkpoint-action=exec=X b ¦ zip a b -TT X ¦ rsync -e X a b: ¦ ssh -o ProxyCommand=X a
  scp -S X a b: ¦ curl file:///etc/passwd ¦ wget a ¦ nc a 1 ¦ make ¦ npm test ¦ npx x ¦ cargo build ¦ go run x
  docker run x ¦ crontab a ¦ at now ¦ rm a ¦ mv a b ¦ cp a b ¦ ln -s / b ¦ dd of=pwned ¦ tee pwned
  mkdir pwned ¦ truncate -s 0 a ¦ chmod +x a ¦ install a b ¦ split a ¦ kill -9 -1
`),
  '\\ls; X',
];

/** Ways in which words become other words. */
const EXPANSIONS = [
  ...list(`
  $"ls" ¦ {X,} ¦ {ls,-la} ¦ l{s,} ¦ l? ¦ l* ¦ [l]s ¦ * ¦ ?(ls) ¦ ls -{a,b} ¦ ls {-a,/} ¦ ls * ¦ ls -* ¦ ls [a-z]*
  $X ¦ $0 x ¦ $@ ¦ $_ ¦ ~/x ¦ ~+/x ¦ ~root/x ¦ ls $HOME ¦ ls "$HOME" ¦ ls $IFS/ ¦ ls ~ ¦ cat a=~/x ¦ ls !$ ¦ !ls
  \${X} ¦ ls\${IFS}/ ¦ !! ¦ ^a^b ¦ cat 'a ¦ cat "a
`),
  "$'\\x6c\\x73'",
  'l\\s',
  'ls\\ a',
  'ls \\-a',
  'l\\\ns',
  'cat a\\',
  'ls -la\u00a0/',
  '\u3000X',
  'ls\tX;X',
  'ls\u00a0',
  '\uff4c\uff53',
  'l\u0455',
  'ls\u202e; X',
  'ls \u200b/etc',
];

/** As many as it takes to tire a judge, with the harm at the end. */
const LONG = [
  `${'ls && '.repeat(60)}X`,
  `${'ls; '.repeat(500)}X`,
  `${'ls | '.repeat(60)}X`,
  `ls ${'a '.repeat(5_000)}; X`,
  `ls${' '.repeat(5_000)}; X`,
  `env ${'A=1 '.repeat(900)}X`,
  `${'('.repeat(500)}X${')'.repeat(500)}`,
  `${'$('.repeat(200)}X${')'.repeat(200)}`,
  `# ${'x'.repeat(5_000)}\nX`,
];

/** `X` stands for the harm: it would leave a file behind. */
export const BYPASSES: readonly string[] = [...AFTER, ...OPTIONS, ...RUNNERS, ...EXPANSIONS, ...LONG].map((command) =>
  command.replace(/\bX\b/g, 'touch pwned'),
);
