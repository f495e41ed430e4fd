package llm

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.40.0"
	"go.opentelemetry.io/otel/semconv/v1.40.0/genaiconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/fathom-research/fathom/platform/fault"
)

const scope = "github.com/fathom-research/fathom/llm"

type observed struct {
	client   Client
	config   Config
	server   []attribute.KeyValue
	tracer   trace.Tracer
	tokens   genaiconv.ClientTokenUsage
	duration genaiconv.ClientOperationDuration
}

// Observed gives each call of client a span and counts its tokens and time, named by
// OpenTelemetry's conventions for generative AI. Prompts and answers are not recorded.
func Observed(client Client, config Config) (Client, error) {
	meter := otel.Meter(scope)
	tokens, err := genaiconv.NewClientTokenUsage(meter)
	if err != nil {
		return nil, fmt.Errorf("make the token histogram: %w", err)
	}
	duration, err := genaiconv.NewClientOperationDuration(meter)
	if err != nil {
		return nil, fmt.Errorf("make the duration histogram: %w", err)
	}
	return &observed{
		client: client, config: config, server: serverOf(config),
		tracer: otel.Tracer(scope), tokens: tokens, duration: duration,
	}, nil
}

func (o *observed) Chat(ctx context.Context, request Request) (*Answer, error) {
	model := o.config.ModelOf(request.Role)
	ctx, span := o.tracer.Start(ctx, "chat "+model, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		semconv.GenAIOperationNameChat, semconv.GenAIProviderNameOpenAI, semconv.GenAIRequestModel(model),
		attribute.String("fathom.llm.role", string(request.Role)),
	), trace.WithAttributes(o.server...))
	defer span.End()
	if request.MaxTokens > 0 {
		span.SetAttributes(semconv.GenAIRequestMaxTokens(request.MaxTokens))
	}

	begun := time.Now()
	answer, err := o.client.Chat(ctx, request)
	labels := append([]attribute.KeyValue{semconv.GenAIRequestModel(model)}, o.server...)
	if err != nil {
		code := string(fault.As(err).Code)
		span.SetStatus(codes.Error, code)
		span.SetAttributes(semconv.ErrorTypeKey.String(code))
		labels = append(labels, semconv.ErrorTypeKey.String(code))
	} else {
		span.SetAttributes(semconv.GenAIResponseModel(answer.Usage.Model),
			semconv.GenAIUsageInputTokens(int(answer.Usage.InputTokens)),
			semconv.GenAIUsageOutputTokens(int(answer.Usage.OutputTokens)))
		o.tokens.Record(ctx, answer.Usage.InputTokens, genaiconv.OperationNameChat, genaiconv.ProviderNameOpenAI, genaiconv.TokenTypeInput, labels...)
		o.tokens.Record(ctx, answer.Usage.OutputTokens, genaiconv.OperationNameChat, genaiconv.ProviderNameOpenAI, genaiconv.TokenTypeOutput, labels...)
	}
	o.duration.Record(ctx, time.Since(begun).Seconds(), genaiconv.OperationNameChat, genaiconv.ProviderNameOpenAI, labels...)
	return answer, err
}

func serverOf(config Config) []attribute.KeyValue {
	u, err := url.Parse(config.URL())
	if err != nil {
		return nil
	}
	server := []attribute.KeyValue{semconv.ServerAddress(u.Hostname())}
	port, err := strconv.Atoi(u.Port())
	if err == nil {
		server = append(server, semconv.ServerPort(port))
	}
	return server
}
