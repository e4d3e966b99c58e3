/**
 * Records the spans of tool calls with OpenTelemetry. The names follow its semantic conventions for MCP. A span has no
 * content: neither arguments nor results.
 */
import { randomUUID } from 'node:crypto';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { otelContextOf, openTracer, traceContextOfSpan } from '../../shared/telemetry/open-tracer.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import type { CallSpans } from './call-spans.ts';

export function openCallSpans(env: Environment): CallSpans {
  const { tracer, close } = openTracer({ service: 'mcp-a2a-bridge', instance: randomUUID(), env });
  return {
    start(tool, parent) {
      const attributes = {
        'mcp.method.name': 'tools/call',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': tool,
      };
      const span = tracer.startSpan(
        `tools/call ${tool}`,
        { kind: SpanKind.SERVER, attributes },
        otelContextOf(parent),
      );
      return {
        trace: traceContextOfSpan(span),
        end(outcome) {
          if (outcome === 'error') {
            span.setAttribute('error.type', 'tool_error');
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    close,
  };
}
