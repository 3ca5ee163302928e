/** One Event as Markdown, for people who read or keep a conversation. Events that say nothing to a reader are ''. */
import type { ContentBlock, Event } from '../core/event.ts';
import { ruleText } from '../core/rule.ts';

export function toMarkdown(event: Event): string {
  switch (event.type) {
    case 'session_created':
      return `# Session ${event.sessionId}\n\n${event.ts}, in \`${event.data.workspace}\`\n\n`;
    case 'session_titled':
      return `**${event.data.title}**\n\n`;
    case 'user_message':
      return `## User\n\n${event.data.content.map(blockText).join('\n\n')}\n\n`;
    case 'assistant_message':
      return `## Pixir\n\n${event.data.text}${event.data.partial ? ` _(${event.data.partial})_` : ''}\n\n`;
    case 'tool_call':
      return `### ${event.data.title}\n\n${fenced(JSON.stringify(event.data.args, null, 2), 'json')}`;
    case 'tool_result':
      return fenced(event.data.error ? `${event.data.error.kind}: ${event.data.error.message}` : event.data.output);
    case 'plan':
      return `${event.data.entries.map(({ status, content }) => `- [${status === 'completed' ? 'x' : ' '}] ${content}`).join('\n')}\n\n`;
    case 'permission_decision':
      return event.data.permissionId
        ? `_${event.data.decision === 'allow' ? 'Allowed' : 'Denied'} by ${event.data.by}._\n\n`
        : '';
    case 'permission_rule':
      return `_${ruleText(event.data.decision, event.data.text)}: so decided ${event.data.by}._\n\n`;
    case 'history_compacted':
      return `_The model goes on from a summary:_\n\n${event.data.summary}\n\n`;
    case 'skill_activation': {
      const { name, path, contentHash, activatedBy } = event.data;
      return `_Skill ${name} was taken up by the ${activatedBy}: ${path}, SHA-256 ${contentHash}._\n\n`;
    }
    case 'turn_finished':
      return event.data.error ? `> ${event.data.error.message}\n\n` : '';
    case 'session_configured':
    case 'turn_started':
    case 'turn_continued':
    case 'reasoning':
    case 'provider_usage':
    case 'permission_requested':
    case 'permission_rule_revoked':
    case 'compaction_started':
    case 'compaction_failed':
      return '';
  }
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}](${block.uri})`;
    case 'image':
    case 'resource':
      return `_(${block.uri ?? block.mimeType}: ${block.size} bytes, SHA-256 ${block.hash})_`;
  }
}

/** A fence longer than any run of backticks inside, so that the content cannot end it. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}\n\n`;
}
